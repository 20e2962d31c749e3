DROP TABLE signing_key;
DROP TABLE api_client;
