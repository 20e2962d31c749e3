INSERT INTO sandbox_copy (project_key, id, stored)
SELECT %(project_key)s, f.id, f.stored
FROM (
    SELECT r.id, to_jsonb(s) AS stored
    FROM resource r,
    LATERAL (
        SELECT
            id,
            version,
            key,
            created_at,
            last_modified_at,
            created_by,
            last_modified_by,
            object_type,
            some_property,
            staged_object_type,
            staged_some_property
    ) s
    WHERE r.project_key = %(source)s
) f
