/**
 * Of events of sessions without a URL of their own, those whose URL is the account's now, or was by the audit log when or
 * after the session was created: the URL of an event is the one of its moment. $1 to $6 one array per column: event,
 * account, account as rendered, mode, URL, creation of the session.
 */
export const FIND_ACCOUNT_URLS = `
  SELECT event.id
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[], $5::text[], $6::timestamptz[])
    AS event (id, account_id, resource_id, test, url, created_at)
    JOIN accounts account ON account.id = event.account_id
  WHERE event.url = CASE WHEN event.test THEN account.test_webhook_url ELSE account.default_webhook_url END
    OR EXISTS (SELECT FROM audit_entries
      WHERE resource_id = event.resource_id AND resource = 'accounts' AND at >= event.created_at
        AND before ->> CASE WHEN event.test THEN 'testWebhookUrl' ELSE 'defaultWebhookUrl' END = event.url)`;
