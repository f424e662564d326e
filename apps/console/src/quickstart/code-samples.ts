/** The values in the code of the quickstart. */
export interface Sample {
  /** Such as `https://127.0.0.1:8443`. */
  readonly origin: string;
  readonly key: string;
  readonly accountId: string;
  readonly brandId: string;
  readonly phone: string;
}

/** SHA-256 of the word `secret`, as a browser would commit to it. */
export const EXAMPLE_CHALLENGE = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';

/** Whether the certificate is that of `npm start`, which clients have to be given. */
export const isLocal = (origin: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(origin).hostname);

/** Opens a session, and asks what became of it. */
export function curlSample({ origin, key, accountId, brandId, phone }: Sample): string {
  const body = JSON.stringify({ phone, accountId, brandId, clientChallenge: EXAMPLE_CHALLENGE }, undefined, 2);
  const ca = isLocal(origin) ? ' --cacert .data/ca.pem' : '';
  return `curl${ca} ${origin}/v1/verify \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${body}'
`;
}

/** The same in TypeScript, until the session has ended. */
export function typescriptSample({ origin, key, accountId, brandId, phone }: Sample): string {
  return `import { createHash, randomBytes } from 'node:crypto';

interface Session {
  readonly id: string;
  readonly status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  readonly fallbackUri: string | null;
  readonly latencyMs: number | null;
}

const API = '${origin}/v1/verify';
const headers = { authorization: 'Bearer ${key}', 'content-type': 'application/json' };

async function call(path: string, body?: object): Promise<Session> {
  const answer = await fetch(API + path, body === undefined
    ? { headers }
    : { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Session;
}

// In your product the browser makes the secret and keeps it.
const secret = randomBytes(32).toString('hex');
const clientChallenge = createHash('sha256').update(secret).digest('hex');

let session = await call('', {
  phone: '${phone}',
  accountId: '${accountId}',
  brandId: '${brandId}',
  clientChallenge,
});
console.log(session.id, session.fallbackUri);

while (session.status === 'pending') {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  session = await call(\`/\${session.id}\`);
}
console.log(session.status, session.latencyMs, 'ms');
`;
}

/** How the TypeScript is run. */
export const typescriptRun = (origin: string): string =>
  `${isLocal(origin) ? 'NODE_EXTRA_CA_CERTS=.data/ca.pem ' : ''}npx tsx quickstart.mts`;
