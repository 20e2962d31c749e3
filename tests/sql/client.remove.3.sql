DELETE FROM removed_client
WHERE removed_at < now() - interval '8 days'
