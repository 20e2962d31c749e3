WITH noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s))
INSERT INTO resource AS r (
    project_key,
    id,
    created_at,
    last_modified_at,
    created_by,
    version,
    last_modified_by,
    key,
    object_type,
    array_of_int,
    array_of_unique_int,
    array_of_twonumbers,
    array_of_float,
    array_of_number,
    array_of_string,
    object_integer,
    object_int32
)
VALUES (
    %(project_key)s,
    %(id)s,
    date_trunc('milliseconds', statement_timestamp()),
    date_trunc('milliseconds', statement_timestamp()),
    %(last_modified_by)s,
    %(version)s,
    %(last_modified_by)s,
    %(key)s,
    %(object_type)s,
    %(array_of_int)s,
    %(array_of_unique_int)s,
    %(array_of_twonumbers)s,
    %(array_of_float)s,
    %(array_of_number)s,
    %(array_of_string)s,
    %(object_integer)s,
    %(object_int32)s
)
RETURNING r.created_at
