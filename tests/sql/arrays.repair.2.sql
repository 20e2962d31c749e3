UPDATE resource r
SET
    arrays = ROW(
        distinct_integers(r.object -> 'arrayOfIntExample'),
        distinct_integers(r.object -> 'arrayOfUniqueIntExample'),
        distinct_numbers(r.object -> 'arrayOfTwonumbersExample'),
        distinct_numbers(r.object -> 'arrayOfFloatExample'),
        distinct_numbers(r.object -> 'arrayOfNumberNoDefaultsExample'),
        distinct_texts(r.object -> 'arrayOfStringExample') COLLATE "C",
        distinct_integers(r.object -> 'arrayOfObjectType', 'integerExample'),
        distinct_integers(r.object -> 'arrayOfObjectType', 'integerExampleInt32')
    )::array_values,
    staged_arrays = CASE
        WHEN r.staged_object_type IS NOT NULL
        THEN ROW(
            distinct_integers(r.staged_object -> 'arrayOfIntExample'),
            distinct_integers(r.staged_object -> 'arrayOfUniqueIntExample'),
            distinct_numbers(r.staged_object -> 'arrayOfTwonumbersExample'),
            distinct_numbers(r.staged_object -> 'arrayOfFloatExample'),
            distinct_numbers(r.staged_object -> 'arrayOfNumberNoDefaultsExample'),
            distinct_texts(r.staged_object -> 'arrayOfStringExample') COLLATE "C",
            distinct_integers(r.staged_object -> 'arrayOfObjectType', 'integerExample'),
            distinct_integers(r.staged_object -> 'arrayOfObjectType', 'integerExampleInt32')
        )::array_values
    END,
    arrays_version = r.version
WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)
