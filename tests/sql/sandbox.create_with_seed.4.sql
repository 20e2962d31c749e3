WITH
    written AS (
        INSERT INTO resource AS r (
            project_key,
            id,
            version,
            key,
            created_at,
            last_modified_at,
            created_by,
            last_modified_by,
            object_type,
            staged_object_type,
            sole
        )
        VALUES (
            %(project_key)s,
            %(new_id)s,
            1,
            %(new_key)s,
            date_trunc('milliseconds', %(now)s::timestamptz),
            date_trunc('milliseconds', %(now)s::timestamptz),
            %(client_id)s,
            %(client_id)s,
            %(new_object)s,
            %(new_staged_object)s,
            %(new_sole)s
        )
        ON CONFLICT DO NOTHING
        RETURNING
            r.id,
            r.version,
            r.key,
            r.created_at,
            r.last_modified_at,
            r.created_by,
            r.last_modified_by,
            r.object_type,
            r.some_property,
            r.words,
            r.staged_words
    ),
    new_words AS (
        INSERT INTO word (project_key, word)
        SELECT %(project_key)s, w.word
        FROM written r, unnest(tsvector_to_array(r.words) || coalesce(tsvector_to_array(r.staged_words), '{}')) w (word)
        ORDER BY w.word COLLATE "C"
        ON CONFLICT DO NOTHING
    )
SELECT
    r.id::text AS id,
    r.version,
    '{"id":"' || r.id
        || '","version":' || r.version || coalesce(',"key":"' || r.key || '"', '')
        || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        || '","createdBy":{"typeId":"api-client","id":' || to_json(r.created_by)
        || '},"lastModifiedBy":{"typeId":"api-client","id":' || to_json(r.last_modified_by)
        || '},"objectTypeProperty":' || r.object_type || coalesce(',"someProperty":' || to_json(r.some_property), '')
        || '}' AS json
FROM written r
