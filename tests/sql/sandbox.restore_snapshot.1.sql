DELETE FROM resource r
WHERE r.project_key = %(project_key)s
    AND r.id = ANY (
        ARRAY(
            SELECT d.id
            FROM (
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
                    sole
                FROM resource r
                WHERE r.project_key = %(project_key)s EXCEPT
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
                    sole
                FROM resource_copy c
                WHERE c.project_key = %(project_key)s AND c.name = %(name)s
            ) d
        )
    )
