WITH noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s))
UPDATE resource r
SET
    version = r.version + 1,
    last_modified_at = date_trunc('milliseconds', now()),
    last_modified_by = %(client_id)s,
    some_property = %(current_some_property)s::text,
    staged_object_type = CASE
        WHEN (
            coalesce(r.staged_object_type, r.object_type), %(staged_some_property)s::text
        ) IS DISTINCT FROM (r.object_type, %(current_some_property)s::text)
        THEN coalesce(r.staged_object_type, r.object_type)
    END,
    staged_some_property = CASE
        WHEN (
            coalesce(r.staged_object_type, r.object_type), %(staged_some_property)s::text
        ) IS DISTINCT FROM (r.object_type, %(current_some_property)s::text)
        THEN %(staged_some_property)s::text
    END,
    staged_arrays = CASE
        WHEN (
            coalesce(r.staged_object_type, r.object_type), %(staged_some_property)s::text
        ) IS DISTINCT FROM (r.object_type, %(current_some_property)s::text)
        THEN CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END
    END,
    arrays_version = CASE WHEN r.arrays_version = r.version THEN r.version + 1 END
WHERE r.project_key = %(project_key)s
    AND r.id = %(id)s::uuid
    AND r.version = %(expected)s::bigint
    AND (
        %(touched)s::boolean
        OR %(current_some_property)s::text IS DISTINCT FROM r.some_property
        OR %(staged_some_property)s::text IS DISTINCT FROM CASE
            WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
        END
    )
RETURNING
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property
