/** The most hosts of one URL. */
export const MAX_HOSTS = 16;

/** `scheme://user:password@host:port,host:port/path?query`: the parts around the hosts are kept as they are written. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/(?:([^@/?#]*)@)?([^/?#]*)(.*)$/is;

export interface HostList {
  /** In lower case, without its colon. */
  readonly scheme: string;
  /** `user:password@`, percent-encoded as in the URL; empty without them. */
  readonly credentials: string;
  /** `host` or `host:port` each; one empty text for a URL without a host. */
  readonly hosts: readonly string[];
  /** Path, query and fragment. */
  readonly rest: string;
}

/** Whether every escape is two hexadecimal digits, and all together are UTF-8. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The parts of a URL whose host may be a list, as libpq reads it (34.1.1.2). Null for a text of another form, and for one with a
 * percent sign that begins no escape.
 */
export function readHostList(text: string): HostList | null {
  if (!isDecodable(text)) return null;
  const [, scheme, credentials, hosts, rest] = URL_PARTS.exec(text) ?? [];
  if (scheme === undefined || hosts === undefined || rest === undefined) return null;
  const list = hosts.split(',');
  if (list.length > MAX_HOSTS || (list.length > 1 && list.includes(''))) return null;
  return {
    scheme: scheme.toLowerCase(),
    credentials: credentials === undefined ? '' : `${credentials}@`,
    hosts: list,
    rest,
  };
}

/** The URL of each host. */
export const urlsOf = ({ scheme, credentials, hosts, rest }: HostList): string[] =>
  hosts.map((host) => `${scheme}://${credentials}${host}${rest}`);
