UPDATE resource r
SET
    version = %(version)s,
    some_property = %(some_property)s,
    staged_object_type = %(staged_object_type)s,
    staged_some_property = %(staged_some_property)s,
    staged_array_of_int = %(staged_array_of_int)s,
    staged_array_of_unique_int = %(staged_array_of_unique_int)s,
    staged_array_of_twonumbers = %(staged_array_of_twonumbers)s,
    staged_array_of_float = %(staged_array_of_float)s,
    staged_array_of_number = %(staged_array_of_number)s,
    staged_array_of_string = %(staged_array_of_string)s,
    staged_object_integer = %(staged_object_integer)s,
    staged_object_int32 = %(staged_object_int32)s,
    last_modified_at = date_trunc('milliseconds', statement_timestamp())
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
