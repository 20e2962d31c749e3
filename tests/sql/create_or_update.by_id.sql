UPDATE resource r
SET
    version = %(version)s,
    object_type = %(object_type)s,
    array_of_int = %(array_of_int)s,
    array_of_unique_int = %(array_of_unique_int)s,
    array_of_twonumbers = %(array_of_twonumbers)s,
    array_of_float = %(array_of_float)s,
    array_of_number = %(array_of_number)s,
    array_of_string = %(array_of_string)s,
    object_integer = %(object_integer)s,
    object_int32 = %(object_int32)s,
    last_modified_at = date_trunc('milliseconds', statement_timestamp())
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
