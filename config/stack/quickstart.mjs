// The result of a start: one JSON object, in a file and on standard output, and a call to paste.
import path from 'node:path';
import { writePrivate } from './files.mjs';
import { printable } from './printable.mjs';

export const quickstartFile = (dataDir) => path.join(dataDir, 'quickstart.json');

const EXAMPLE_PHONE = '+14155552671';
/** SHA-256 of the word `secret`, as a browser would commit to it. */
const EXAMPLE_CHALLENGE = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';

export function publishQuickstart({ dataDir, places, caFile, demo, adminKey, environment, stores, log }) {
  const quickstart = {
    baseUrl: places.baseUrl,
    caFile,
    accountId: demo.accountId,
    brandId: demo.brandId,
    brandSlug: demo.brandSlug,
    apiKey: demo.apiKey,
    testApiKey: demo.testApiKey,
    webhookSecret: demo.webhookSecret,
    testWebhookSecret: demo.testWebhookSecret,
    adminKey,
    consoleUrl: `${places.baseUrl}${demo.consolePath}`,
    phoneUrl: `${places.simulator}/phone/`,
    demoUrl: `${places.simulator}/demo/`,
    inboundNumber: demo.inboundNumber,
    smpp: { port: places.smppPort, ...demo.smpp },
    realtimeUrl: `${places.baseUrl.replace(/^http/, 'ws')}/v1/realtime`,
  };
  const text = JSON.stringify(quickstart);
  writePrivate(quickstartFile(dataDir), `${JSON.stringify(quickstart, undefined, 2)}\n`);
  log('ready');
  const words = introduction({ dataDir, places, quickstart, environment, stores });
  process.stdout.write(printable(`${text}\n\n${words}\n`));
}

function introduction({ dataDir, places, quickstart, environment, stores }) {
  const session = {
    accountId: quickstart.accountId,
    brandId: quickstart.brandId,
    phone: EXAMPLE_PHONE,
    clientChallenge: EXAMPLE_CHALLENGE,
  };
  const sms = { from: EXAMPLE_PHONE, to: quickstart.inboundNumber, text: `AUTH-${quickstart.brandSlug}-…` };
  return `Countersign is ready. The object above is also in ${quickstartFile(dataDir)}
Queues: ${stores.queues}. Logs: ${path.join(dataDir, 'logs')}. Documentation: ${places.baseUrl}/docs
Webhooks may go to ${environment.WEBHOOK_ALLOWED_CIDRS || 'public addresses only'}${
    environment.WEBHOOK_ALLOW_HTTP === 'true' ? ', over plain http too' : ''
  }: a default for development, see WEBHOOK_ALLOWED_CIDRS.

Look behind the scenes (a link for one use, within an hour):

  ${quickstart.consoleUrl}

Sign in at a shop, and answer it on a phone beside it:

  ${quickstart.demoUrl}
  ${quickstart.phoneUrl}

Or open a verification by hand:

  curl --cacert ${quoted(quickstart.caFile)} ${places.baseUrl}/v1/verify \\
    -H 'Authorization: Bearer ${quickstart.apiKey}' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(session)}'

Answer it as the phone would, with the text that its fallbackUri carries (a number that the phone page has given RCS gets a
card with two buttons instead):

  curl ${places.simulator}/_admin/sms -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(sms)}'

Ctrl-C stops everything.`;
}

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
