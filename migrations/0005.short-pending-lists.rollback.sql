ALTER INDEX resource_object RESET (gin_pending_list_limit);
ALTER INDEX resource_staged_object RESET (gin_pending_list_limit);
ALTER INDEX resource_words RESET (gin_pending_list_limit);
ALTER INDEX resource_staged_words RESET (gin_pending_list_limit);
