INSERT INTO removed_client (id, removed_at)
VALUES (%(id)s, now())
ON CONFLICT DO NOTHING
