UPDATE resource r
SET
    array_of_int = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_array_elements(r.object -> 'arrayOfIntExample') e (value)
    ),
    array_of_unique_int = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_array_elements(r.object -> 'arrayOfUniqueIntExample') e (value)
    ),
    array_of_twonumbers = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.object -> 'arrayOfTwonumbersExample') e (value)
    ),
    array_of_float = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.object -> 'arrayOfFloatExample') e (value)
    ),
    array_of_number = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.object -> 'arrayOfNumberNoDefaultsExample') e (value)
    ),
    array_of_string = (
        SELECT array_agg(DISTINCT (e.value #>> '{}') COLLATE "C" ORDER BY (e.value #>> '{}') COLLATE "C")
        FROM jsonb_array_elements(r.object -> 'arrayOfStringExample') e (value)
    ),
    object_integer = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_path_query(r.object -> 'arrayOfObjectType', '$[*].integerExample') e (value)
    ),
    object_int32 = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_path_query(r.object -> 'arrayOfObjectType', '$[*].integerExampleInt32') e (value)
    ),
    staged_array_of_int = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfIntExample') e (value)
    ),
    staged_array_of_unique_int = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfUniqueIntExample') e (value)
    ),
    staged_array_of_twonumbers = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfTwonumbersExample') e (value)
    ),
    staged_array_of_float = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfFloatExample') e (value)
    ),
    staged_array_of_number = (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfNumberNoDefaultsExample') e (value)
    ),
    staged_array_of_string = (
        SELECT array_agg(DISTINCT (e.value #>> '{}') COLLATE "C" ORDER BY (e.value #>> '{}') COLLATE "C")
        FROM jsonb_array_elements(r.staged_object -> 'arrayOfStringExample') e (value)
    ),
    staged_object_integer = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_path_query(r.staged_object -> 'arrayOfObjectType', '$[*].integerExample') e (value)
    ),
    staged_object_int32 = (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_path_query(r.staged_object -> 'arrayOfObjectType', '$[*].integerExampleInt32') e (value)
    )
WHERE r.project_key = %(project_key)s
    AND r.id = ANY (
        ARRAY(
            SELECT r.id
            FROM resource r
            WHERE r.project_key = %(project_key)s
                AND (
                    r.array_of_int IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_array_elements(r.object -> 'arrayOfIntExample') e (value)
                    )
                    OR r.array_of_unique_int IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_array_elements(r.object -> 'arrayOfUniqueIntExample') e (value)
                    )
                    OR r.array_of_twonumbers IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.object -> 'arrayOfTwonumbersExample') e (value)
                    )
                    OR r.array_of_float IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.object -> 'arrayOfFloatExample') e (value)
                    )
                    OR r.array_of_number IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.object -> 'arrayOfNumberNoDefaultsExample') e (value)
                    )
                    OR r.array_of_string IS DISTINCT FROM (
                        SELECT array_agg(
                            DISTINCT (e.value #>> '{}') COLLATE "C" ORDER BY (e.value #>> '{}') COLLATE "C"
                        )
                        FROM jsonb_array_elements(r.object -> 'arrayOfStringExample') e (value)
                    )
                    OR r.object_integer IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_path_query(r.object -> 'arrayOfObjectType', '$[*].integerExample') e (value)
                    )
                    OR r.object_int32 IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_path_query(r.object -> 'arrayOfObjectType', '$[*].integerExampleInt32') e (value)
                    )
                    OR r.staged_array_of_int IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfIntExample') e (value)
                    )
                    OR r.staged_array_of_unique_int IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfUniqueIntExample') e (value)
                    )
                    OR r.staged_array_of_twonumbers IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfTwonumbersExample') e (value)
                    )
                    OR r.staged_array_of_float IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfFloatExample') e (value)
                    )
                    OR r.staged_array_of_number IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfNumberNoDefaultsExample') e (value)
                    )
                    OR r.staged_array_of_string IS DISTINCT FROM (
                        SELECT array_agg(
                            DISTINCT (e.value #>> '{}') COLLATE "C" ORDER BY (e.value #>> '{}') COLLATE "C"
                        )
                        FROM jsonb_array_elements(r.staged_object -> 'arrayOfStringExample') e (value)
                    )
                    OR r.staged_object_integer IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_path_query(r.staged_object -> 'arrayOfObjectType', '$[*].integerExample') e (value)
                    )
                    OR r.staged_object_int32 IS DISTINCT FROM (
                        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
                        FROM jsonb_path_query(
                            r.staged_object -> 'arrayOfObjectType', '$[*].integerExampleInt32'
                        ) e (value)
                    )
                )
            LIMIT 500
        )
    )
