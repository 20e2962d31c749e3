WITH
    counted AS (SELECT 0 AS resources),
    before AS MATERIALIZED (
        SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.key = %(key)s FOR UPDATE
    ),
    after AS MATERIALIZED (
        SELECT
            r.id,
            r.key AS key,
            (
                SELECT '{'
                    || coalesce(
                        string_agg(
                            to_json(f.name) || ':' || f.value, ','
                            ORDER BY array_position(%(field_order)s::text[], f.name)
                        ),
                        ''
                    )
                    || '}'
                FROM (
                    SELECT coalesce(n.key, o.key) AS name, coalesce(n.value, o.value)::text AS value
                    FROM json_each((r.object_type)::json) o
                        FULL JOIN json_each(%(current_object)s::json) n ON n.key = o.key
                ) f
            ) AS current_object,
            r.some_property AS current_some_property,
            (
                SELECT '{'
                    || coalesce(
                        string_agg(
                            to_json(f.name) || ':' || f.value, ','
                            ORDER BY array_position(%(field_order)s::text[], f.name)
                        ),
                        ''
                    )
                    || '}'
                FROM (
                    SELECT coalesce(n.key, o.key) AS name, coalesce(n.value, o.value)::text AS value
                    FROM json_each((coalesce(r.staged_object_type, r.object_type))::json) o
                        FULL JOIN json_each(%(staged_object)s::json) n ON n.key = o.key
                ) f
            ) AS staged_object,
            CASE
                WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property
            END AS staged_some_property,
            ROW(
                CASE
                    WHEN 'arrayOfIntExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_int
                    ELSE (r.arrays).array_of_int
                END,
                CASE
                    WHEN 'arrayOfUniqueIntExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_unique_int
                    ELSE (r.arrays).array_of_unique_int
                END,
                CASE
                    WHEN 'arrayOfTwonumbersExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_twonumbers
                    ELSE (r.arrays).array_of_twonumbers
                END,
                CASE
                    WHEN 'arrayOfFloatExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_float
                    ELSE (r.arrays).array_of_float
                END,
                CASE
                    WHEN 'arrayOfNumberNoDefaultsExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_number
                    ELSE (r.arrays).array_of_number
                END,
                CASE
                    WHEN 'arrayOfStringExample' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).array_of_string
                    ELSE (r.arrays).array_of_string
                END,
                CASE
                    WHEN 'arrayOfObjectType' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).object_integer
                    ELSE (r.arrays).object_integer
                END,
                CASE
                    WHEN 'arrayOfObjectType' = ANY (%(current_names)s::text[])
                        THEN (%(current_arrays)s::array_values).object_int32
                    ELSE (r.arrays).object_int32
                END
            )::array_values AS current_arrays,
            ROW(
                CASE
                    WHEN 'arrayOfIntExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_int
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).array_of_int
                END,
                CASE
                    WHEN 'arrayOfUniqueIntExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_unique_int
                    ELSE (
                        CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END
                    ).array_of_unique_int
                END,
                CASE
                    WHEN 'arrayOfTwonumbersExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_twonumbers
                    ELSE (
                        CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END
                    ).array_of_twonumbers
                END,
                CASE
                    WHEN 'arrayOfFloatExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_float
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).array_of_float
                END,
                CASE
                    WHEN 'arrayOfNumberNoDefaultsExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_number
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).array_of_number
                END,
                CASE
                    WHEN 'arrayOfStringExample' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).array_of_string
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).array_of_string
                END,
                CASE
                    WHEN 'arrayOfObjectType' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).object_integer
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).object_integer
                END,
                CASE
                    WHEN 'arrayOfObjectType' = ANY (%(staged_names)s::text[])
                        THEN (%(staged_arrays)s::array_values).object_int32
                    ELSE (CASE WHEN r.staged_object_type IS NULL THEN r.arrays ELSE r.staged_arrays END).object_int32
                END
            )::array_values AS staged_arrays,
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
            arrays_version = CASE WHEN r.arrays_version = r.version THEN r.version + 1 END
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
