DROP TABLE resource;
