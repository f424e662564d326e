// "Ready" means that a first call copied from the output succeeds, and that an SMS would arrive.
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { waitUntil } from './processes.mjs';
import { StartError } from './progress.mjs';

const READY_TIMEOUT_MS = 60_000;
const ASK_TIMEOUT_MS = 2000;
const SHOWN_CHARACTERS = 300;
/** A session that does not exist: 404 shows that the key was taken. */
const ASKED_SESSION = 'sess_00000000000000000000000000';

/** @param {{ places: ReturnType<typeof import('./environment.mjs').placesOf>, caFile: string, apiKey: string, signal: AbortSignal }} options */
export async function waitUntilReady({ places, caFile, apiKey, signal }) {
  const checks = {
    'the control plane': () => askReadiness(`${places.controlPlaneOps}/readyz`),
    'the gateway': () => askReadiness(`${places.gatewayOps}/readyz`),
    "the gateway's bind to the simulator": () => askSimulator(places.simulator),
    ...(places.proxied ? {} : { 'a first HTTPS call': () => askApi(places.controlPlane, caFile, apiKey) }),
  };
  const waits = Object.entries(checks).map(([what, ask]) => waitFor(what, ask, signal));
  const faults = (await Promise.all(waits)).filter((fault) => fault !== undefined);
  signal.throwIfAborted();
  if (faults.length > 0) throw new StartError(faults.join('\n'));
}

async function waitFor(what, ask, signal) {
  let fault = '';
  const good = async () => {
    if (signal.aborted) return true;
    fault = await ask().catch((error) => error.cause?.code ?? error.code ?? error.message);
    return fault === undefined;
  };
  if (await waitUntil(good, READY_TIMEOUT_MS)) return undefined;
  return `${what} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${String(fault).slice(0, SHOWN_CHARACTERS)}`;
}

async function askReadiness(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
  const text = await answer.text();
  return answer.ok ? undefined : text;
}

async function askSimulator(simulator) {
  const answer = await fetch(`${simulator}/_admin/smsc`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
  const { links } = await answer.json();
  return links.some(({ receives }) => receives) ? undefined : 'not bound';
}

function askApi(controlPlane, caFile, apiKey) {
  return new Promise((resolve, reject) => {
    const options = {
      ca: readFileSync(caFile),
      headers: { authorization: `Bearer ${apiKey}` },
      timeout: ASK_TIMEOUT_MS,
      agent: false,
    };
    const request = https.get(`${controlPlane}/v1/verify/${ASKED_SESSION}`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 404 ? undefined : `it answers ${answer.statusCode}`);
    });
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', reject);
  });
}
