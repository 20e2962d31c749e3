SELECT
    count(*),
    coalesce(
        sum(
            octet_length(r.object_type) + coalesce(octet_length(r.some_property), 0) + coalesce(octet_length(r.staged_object_type), 0) + coalesce(
                octet_length(r.staged_some_property), 0
            )
        ),
        0
    )
FROM resource r
WHERE r.project_key = %(project_key)s
