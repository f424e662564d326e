import type { Bind } from './bind-queries.js';

type Host = Bind['hosts'][number];

const SMPP_PORT = 2775;

/** As `hostsOf` reads them. */
export const shownHosts = (hosts: readonly Host[]): string =>
  hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${String(port)}`).join(', ');

/** Hosts of a text such as `smsc.example:2775, [2001:db8::1]`. The server refuses what is none. */
export const hostsOf = (text: string): Host[] =>
  text
    .split(/[\s,]+/)
    .filter((each) => each !== '')
    .map((each) => {
      const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(each) ?? [];
      return { host: inBrackets ?? plain ?? each, port: port === undefined ? SMPP_PORT : Number(port) };
    });
