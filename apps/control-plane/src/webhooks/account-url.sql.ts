/**
 * Of events of sessions without a URL of their own, those whose URL is the account's now, or was when or after the session was
 * created: the URL of an event is the one of its moment. A trigger on accounts keeps former URLs (0079-former-webhook-urls.ts),
 * each once, so that an event costs two reads of an index however often the account has changed its URL. $1 to $5 one array per
 * column: event, account, mode, URL, creation of the session.
 */
export const FIND_ACCOUNT_URLS = `
  SELECT event.id
  FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::text[], $5::timestamptz[])
    AS event (id, account_id, test, url, created_at)
    JOIN accounts account ON account.id = event.account_id
  WHERE event.url = CASE WHEN event.test THEN account.test_webhook_url ELSE account.default_webhook_url END
    OR EXISTS (SELECT FROM former_webhook_urls former
      WHERE former.account_id = event.account_id AND former.test = event.test
        AND former.url_digest = sha256(convert_to(event.url, 'UTF8')) AND former.replaced_at >= event.created_at)`;

/** Forgets former URLs of accounts. $1 for how many days they are kept, $2 how many are deleted at most. */
export const FORGET_FORMER_URLS = `
  DELETE FROM former_webhook_urls WHERE (account_id, test, url_digest) IN (
    SELECT account_id, test, url_digest FROM former_webhook_urls
    WHERE replaced_at < statement_timestamp() - make_interval(days => $1)
    ORDER BY replaced_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
