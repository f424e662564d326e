import { parseJsonObject, type JsonObject } from '../http/json-body.js';

/** The SMSC of the carrier simulator, to which the gateway of a development run binds. */
export interface SimulatorLink {
  readonly host: string;
  readonly port: number;
  readonly systemId: string;
  readonly password: string;
}

/** The input of the launcher: the secrets that it keeps between runs, and the address of the simulator. */
export interface SeedRequest {
  /** The live key of an earlier run; null if there is none. */
  readonly apiKey: string | null;
  /** The test key of an earlier run; null if there is none. */
  readonly testApiKey: string | null;
  /** The password of the inbound SMPP system; null if there is none. */
  readonly smppPassword: string | null;
  /** Null: no bind is created. */
  readonly simulator: SimulatorLink | null;
}

/** SMPP 3.4, sections 5.2.1 and 5.2.2: at most 15 and 8 characters without the terminating zero octet. */
const SYSTEM_ID = /^[\x21-\x7e]{1,15}$/;
const PASSWORD = /^[\x21-\x7e]{1,8}$/;
const MAX_PORT = 65_535;

/** Parses the request of the launcher: one JSON object, or empty input. Throws an error that names the illegal field. */
export function parseSeedRequest(octets: Buffer): SeedRequest {
  if (octets.toString('utf8').trim() === '') {
    return { apiKey: null, testApiKey: null, smppPassword: null, simulator: null };
  }
  const body = parseJsonObject(octets);
  if (!body.ok) throw new Error(`demo seed: the request cannot be parsed: ${body.because}`);
  return {
    apiKey: optionalText(body.value, 'apiKey', /^csk_live_/),
    testApiKey: optionalText(body.value, 'testApiKey', /^csk_test_/),
    smppPassword: optionalText(body.value, 'smppPassword', PASSWORD),
    simulator: simulatorOf(body.value),
  };
}

function simulatorOf(request: JsonObject): SimulatorLink | null {
  const simulator = request.get('simulator') ?? null;
  if (simulator === null) return null;
  if (!(simulator instanceof Map)) throw new Error('demo seed: simulator must be an object');
  const link = simulator as JsonObject;
  const port = link.get('port');
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > MAX_PORT)
    throw faultIn('simulator.port');
  return {
    host: text(link, 'host', /^[^\s]+$/),
    port,
    systemId: text(link, 'systemId', SYSTEM_ID),
    password: text(link, 'password', PASSWORD),
  };
}

function optionalText(object: JsonObject, name: string, pattern: RegExp): string | null {
  return (object.get(name) ?? null) === null ? null : text(object, name, pattern);
}

function text(object: JsonObject, name: string, pattern: RegExp): string {
  const value = object.get(name);
  if (typeof value !== 'string' || !pattern.test(value)) throw faultIn(name);
  return value;
}

const faultIn = (name: string): Error => new Error(`demo seed: ${name} is missing or not valid`);
