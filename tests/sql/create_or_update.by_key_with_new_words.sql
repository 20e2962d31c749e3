WITH noted AS (INSERT INTO unindexed_text (project_key, text) VALUES (%(project_key)s, %(new_words)s))
UPDATE resource r
SET
    version = %(version)s,
    object_type = %(object_type)s,
    last_modified_at = date_trunc('milliseconds', statement_timestamp())
WHERE r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s
RETURNING r.last_modified_at
