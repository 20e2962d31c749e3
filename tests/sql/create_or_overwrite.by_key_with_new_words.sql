WITH
    noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s)),
    counted AS (SELECT 0 AS resources),
    before AS MATERIALIZED (
        SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.key = %(key)s FOR UPDATE
    ),
    after AS MATERIALIZED (
        SELECT
            r.id,
            r.key AS key,
            %(current_object)s::text AS current_object,
            r.some_property AS current_some_property,
            %(staged_object)s::text AS staged_object,
            CASE
                WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
            END AS staged_some_property,
            %(current_arrays)s::array_values AS current_arrays,
            %(staged_arrays)s::array_values AS staged_arrays,
            r.key AS key_before,
            r.object_type AS current_object_before,
            r.some_property AS current_some_property_before,
            coalesce(r.staged_object_type, r.object_type) AS staged_object_before,
            CASE
                WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
            END AS staged_some_property_before
        FROM before r
    ),
    written AS (
        UPDATE resource r
        SET
            version = r.version + 1,
            last_modified_at = date_trunc('milliseconds', now()),
            last_modified_by = %(client_id)s,
            object_type = a.current_object,
            arrays = a.current_arrays,
            staged_object_type = CASE
                WHEN (a.staged_object, a.staged_some_property) IS DISTINCT FROM (
                    a.current_object, a.current_some_property
                )
                THEN a.staged_object
            END,
            staged_some_property = CASE
                WHEN (a.staged_object, a.staged_some_property) IS DISTINCT FROM (
                    a.current_object, a.current_some_property
                )
                THEN a.staged_some_property
            END,
            staged_arrays = CASE
                WHEN (a.staged_object, a.staged_some_property) IS DISTINCT FROM (
                    a.current_object, a.current_some_property
                )
                THEN a.staged_arrays
            END,
            arrays_version = r.version + 1
        FROM after a
        WHERE r.project_key = %(project_key)s
            AND r.id = a.id
            AND (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
            AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
            AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
            AND NOT %(only_create)s::boolean
            AND (
                %(touched)s::boolean
                OR a.current_object IS DISTINCT FROM a.current_object_before
                OR a.staged_object IS DISTINCT FROM a.staged_object_before
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
    )
SELECT
    c.resources,
    (
        (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
        AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
        AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
        AND NOT %(only_create)s::boolean
    ),
    r.is_written,
    r.id,
    r.version,
    r.key,
    r.created_at,
    r.last_modified_at,
    r.created_by,
    r.last_modified_by,
    r.object_type,
    r.some_property
FROM counted c
    LEFT JOIN (
        SELECT true AS is_written, r.*
        FROM written r
        UNION ALL
        SELECT
            false,
            r.id,
            r.version,
            r.key,
            r.created_at,
            r.last_modified_at,
            r.created_by,
            r.last_modified_by,
            r.object_type,
            r.some_property
        FROM before r
        WHERE NOT EXISTS (SELECT FROM written)
    ) r ON true
