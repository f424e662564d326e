// "Ready" means that a first call copied from the output succeeds and that an SMS would arrive.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { waitUntil } from './processes.mjs';
import { StartError } from './progress.mjs';

const READY_TIMEOUT_MS = 60_000;
const ASK_TIMEOUT_MS = 2000;
const SHOWN_CHARACTERS = 300;
/** A session that does not exist: 404 shows that the key was accepted. */
const ASKED_SESSION = 'sess_00000000000000000000000000';

/**
 * @param {{ places: ReturnType<typeof import('./environment.mjs').placesOf>, caFile: string, apiKey: string,
 * withCards: boolean, signal: AbortSignal }} options withCards: the simulator acts as the RBM service
 */
export async function waitUntilReady({ places, caFile, apiKey, withCards, signal }) {
  const ca = readFileSync(caFile);
  const checks = {
    'the control plane': () => askReadiness(`${places.controlPlaneOps}/readyz`),
    'the gateway': () => askReadiness(`${places.gatewayOps}/readyz`),
    "the gateway's bind to the simulator": () => askSimulator(places.simulator),
    ...(withCards ? { "the gateway's webhook for RCS": () => askRbm(places.simulator) } : {}),
    ...(places.proxied ? {} : { 'a first HTTPS call': () => askApi(places.controlPlane, ca, apiKey) }),
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
    fault = await ask().catch((error) => error.code ?? error.message);
    return fault === undefined;
  };
  if (await waitUntil(good, READY_TIMEOUT_MS)) return undefined;
  return `${what} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${String(fault).slice(0, SHOWN_CHARACTERS)}`;
}

async function askReadiness(url) {
  const { status, text } = await get(http, url);
  return status === 200 ? undefined : text;
}

async function askSimulator(simulator) {
  const { links } = JSON.parse((await get(http, `${simulator}/_admin/smsc`)).text);
  return links.some(({ receives }) => receives) ? undefined : 'not bound';
}

/** The webhook has passed the simulator's handshake: taps will arrive. */
async function askRbm(simulator) {
  const { webhook } = JSON.parse((await get(http, `${simulator}/_admin/rbm`)).text);
  return webhook.verified ? undefined : (webhook.lastFault ?? 'not asked yet');
}

async function askApi(controlPlane, ca, apiKey) {
  const options = { ca, headers: { authorization: `Bearer ${apiKey}` } };
  const { status } = await get(https, `${controlPlane}/v1/verify/${ASKED_SESSION}`, options);
  return status === 404 ? undefined : `it answers ${status}`;
}

/** Node's own clients: loading `fetch` would add 60 ms to a start. */
function get(protocol, url, options) {
  return new Promise((resolve, reject) => {
    const request = protocol.get(url, { timeout: ASK_TIMEOUT_MS, agent: false, ...options }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part));
      answer.once('end', () => resolve({ status: answer.statusCode, text }));
    });
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', reject);
  });
}
