INSERT INTO sandbox_copy (project_key, name, id, stored)
SELECT %(project_key)s, %(name)s, f.id, f.stored
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
            staged_some_property,
            array_of_int,
            array_of_unique_int,
            array_of_twonumbers,
            array_of_float,
            array_of_number,
            array_of_string,
            object_integer,
            object_int32,
            staged_array_of_int,
            staged_array_of_unique_int,
            staged_array_of_twonumbers,
            staged_array_of_float,
            staged_array_of_number,
            staged_array_of_string,
            staged_object_integer,
            staged_object_int32
    ) s
    WHERE r.project_key = %(project_key)s
) f
