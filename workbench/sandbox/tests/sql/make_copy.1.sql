DELETE FROM resource r
WHERE r.project_key = %(project_key)s
    AND r.id = ANY (
        ARRAY(
            SELECT d.id
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
                WHERE r.project_key = %(project_key)s EXCEPT
                SELECT c.id, c.stored
                FROM sandbox_copy c
                WHERE c.project_key = %(project_key)s
            ) d
        )
    )
