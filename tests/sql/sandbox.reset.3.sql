UPDATE sandbox_project
SET judged_us = %(until_us)s, judged_place = %(until_place)s
WHERE project_key = %(project_key)s
    AND client_id = %(client_id)s
    AND judged_us = %(judged_us)s
    AND judged_place = %(judged_place)s
RETURNING project_key
