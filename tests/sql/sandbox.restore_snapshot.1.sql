DELETE FROM resource r
WHERE r.project_key = %(project_key)s
    AND NOT EXISTS (
        SELECT
        FROM resource_copy c
        WHERE c.project_key = %(project_key)s
            AND c.name = %(name)s
            AND c.id IS NOT DISTINCT FROM r.id
            AND c.version IS NOT DISTINCT FROM r.version
            AND c.key IS NOT DISTINCT FROM r.key
            AND c.created_at IS NOT DISTINCT FROM r.created_at
            AND c.last_modified_at IS NOT DISTINCT FROM r.last_modified_at
            AND c.created_by IS NOT DISTINCT FROM r.created_by
            AND c.last_modified_by IS NOT DISTINCT FROM r.last_modified_by
            AND c.object_type IS NOT DISTINCT FROM r.object_type
            AND c.some_property IS NOT DISTINCT FROM r.some_property
            AND c.staged_object_type IS NOT DISTINCT FROM r.staged_object_type
            AND c.staged_some_property IS NOT DISTINCT FROM r.staged_some_property
            AND c.sole IS NOT DISTINCT FROM r.sole
    )
