// Finds free ports, and the processes that use the others.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import net from 'node:net';
import { StartError } from './progress.mjs';
import { commandLine, waitUntil } from './processes.mjs';

const LISTENING = '0A';
const ENDING_MS = 500;
const SHOWN_COMMAND_CHARACTERS = 80;

/** The range of ports for the private servers of a development run. */
export const PRIVATE_PORTS = { from: 28100, count: 100 };

/** Why nothing can listen there (`EADDRINUSE`, …), or undefined if the port is free. */
const listenFault = (port, host) =>
  new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** Concurrent processes begin at different offsets; repeated calls return different ports. */
let nextOffset = process.pid;

/** A port of that range that is free on 127.0.0.1; differs from that of the previous call. */
export async function freePort(
  from = Number(process.env.STACK_PORT ?? PRIVATE_PORTS.from),
  count = PRIVATE_PORTS.count,
) {
  for (let tries = 0; tries < count; tries++) {
    const port = from + (nextOffset++ % count);
    if ((await listenFault(port, '127.0.0.1')) === undefined) return port;
  }
  throw new StartError(`no free port in ${from}..${from + count - 1}: set STACK_PORT to the first of 100 others`);
}

/**
 * The listeners of a run, as the environment configures them.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {{ variable: string, port: number, host: string, what: string }[]}
 */
export function listenersOf(env) {
  const opsHost = env.OPS_HOST || '127.0.0.1';
  const gatewayHost = env.GATEWAY_HTTP_HOST || '127.0.0.1';
  const smppHost = env.GATEWAY_SMPP_HOST || '127.0.0.1';
  const listeners = [
    ['CONTROL_PLANE_PORT', 8443, env.CONTROL_PLANE_HOST || '127.0.0.1', 'the API'],
    ['CONTROL_PLANE_OPS_PORT', 9464, opsHost, "the control plane's health and metrics"],
    ['GATEWAY_HTTP_PORT', 8081, gatewayHost, "the gateway's HTTP"],
    ['GATEWAY_SMPP_PORT', 2775, smppHost, "the gateway's SMPP"],
    ['GATEWAY_SMPP_TLS_PORT', 3550, smppHost, "the gateway's SMPP over TLS"],
    ['GATEWAY_OPS_PORT', 9465, opsHost, "the gateway's health and metrics"],
    ['SIMULATOR_SMPP_PORT', 2776, '127.0.0.1', "the carrier simulator's SMPP"],
    ['SIMULATOR_HTTP_PORT', 8090, '127.0.0.1', "the carrier simulator's HTTP"],
  ];
  return listeners.map(([variable, usual, host, what]) => ({
    variable,
    port: portOf(variable, env[variable] || String(usual)),
    host,
    what,
  }));
}

function portOf(variable, text) {
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new StartError(`${variable} is "${text}": it must be a port, 1 to 65535`);
  return port;
}

/** Throws if a port of a listener is not available; the message names the remedy. */
export async function checkPorts(listeners) {
  const faults = [];
  for (const [index, listener] of listeners.entries()) {
    const twin = listeners.slice(0, index).find((other) => other.port === listener.port);
    if (twin) faults.push(`port ${listener.port} is given twice; set ${twin.variable} or ${listener.variable}`);
    else faults.push(faultText(listener, await lastingFault(listener)));
  }
  const found = faults.filter((fault) => fault !== undefined);
  if (found.length > 0) throw new StartError(found.join('\n'));
}

/** A process that is ending may hold its ports for a moment after it has disappeared from the process list. */
async function lastingFault({ port, host }) {
  let fault;
  await waitUntil(async () => (fault = await listenFault(port, host)) !== 'EADDRINUSE', ENDING_MS);
  return fault;
}

function faultText({ variable, port, host, what }, code) {
  const remedy = `set ${variable} to another port (for ${what})`;
  switch (code) {
    case undefined:
      return undefined;
    case 'EADDRINUSE':
      return `port ${port} is taken by ${ownerOf(port)}; stop it, or ${remedy}`;
    case 'EACCES':
      return `port ${port} needs privileges that this user does not have; ${remedy}`;
    default:
      return `cannot listen on ${host} port ${port} (${code}); ${remedy}, or correct the host`;
  }
}

/** The process that listens on the port, in words, as far as this user may see it. */
function ownerOf(port) {
  const pid = ownerByProc(port) ?? ownerByLsof(port);
  if (pid === undefined) return 'another program';
  return `process ${pid} (${commandLine(pid).slice(0, SHOWN_COMMAND_CHARACTERS)})`;
}

function ownerByProc(port) {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeningInodes(table, port)));
  if (sockets.size === 0) return undefined;
  const owns = (pid) => {
    try {
      const folder = `/proc/${pid}/fd`;
      return readdirSync(folder).some((fd) => sockets.has(readlinkSync(`${folder}/${fd}`)));
    } catch {
      return false; // ended, or another user's
    }
  };
  return readdirSync('/proc').find((name) => /^\d+$/.test(name) && owns(name));
}

function listeningInodes(table, port) {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(suffix) && fields[3] === LISTENING)
      .map((fields) => `socket:[${fields[9]}]`);
  } catch {
    return []; // not Linux
  }
}

function ownerByLsof(port) {
  const found = spawnSync('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], { encoding: 'utf8' });
  return /^\d+/.exec(found.stdout ?? '')?.[0];
}
