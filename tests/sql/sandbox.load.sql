SELECT project_key, client_id
FROM sandbox_project
