#!/bin/sh
# Makes the roles countersign_owner, countersign_app and countersign_gateway (config/stack/roles.sql) in the database of this
# container. The image runs it once, when it makes a new volume. A volume of an earlier release, which lacks one of the roles
# or whose tables belong to the superuser, is changed by hand, once, before the new release starts:
#   docker compose --env-file config/docker/countersign.env up --detach postgres
#   docker compose --env-file config/docker/countersign.env exec postgres sh /docker-entrypoint-initdb.d/roles.sh
# and once more when the last daemon of the earlier release has stopped, which may have made partitions meanwhile.
set -eu
# The passwords go by standard input, not by the command line, which every process list shows. psql quotes them (:'…').
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv app_password POSTGRES_APP_PASSWORD
\getenv gateway_password POSTGRES_GATEWAY_PASSWORD
SELECT set_config('countersign.owner_password', :'owner_password', false) \g /dev/null
SELECT set_config('countersign.app_password', :'app_password', false) \g /dev/null
SELECT set_config('countersign.gateway_password', :'gateway_password', false) \g /dev/null
\i /etc/countersign/roles.sql
SQL
