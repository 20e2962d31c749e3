SELECT
    w.place,
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","hasStagedChanges":'
            || (r.staged_object_type IS NOT NULL)
            || coalesce(',"someProperty":' || to_json(r.some_property), '')
            || CASE r.object_type WHEN '{}' THEN '}' ELSE ',' || substr(r.object_type, 2) END
FROM unnest((SELECT %(ids)s::uuid[])) WITH ORDINALITY w (id, place)
    CROSS JOIN LATERAL (SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s AND r.id = w.id LIMIT 1) r
