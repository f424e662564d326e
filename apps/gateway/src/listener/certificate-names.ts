import type { PeerCertificate } from 'node:tls';

/** Kinds of alternative name that may contain a system_id. */
const KINDS: ReadonlySet<string> = new Set(['DNS', 'email', 'URI']);
/** One name as Node prints it; a JSON string where its octets could be read as another name. */
const NAME = /(?<kind>[A-Za-z ]+):(?:(?<quoted>"(?:[^"\\]|\\.)*")|(?<plain>[^",]*))(?:, |$)/y;

/**
 * The common names and the alternative names (DNS, email, URI) of a certificate that TLS has verified, as
 * `TLSSocket.getPeerCertificate()` returns it: an empty object for none.
 */
export function certificateNames(certificate: Partial<PeerCertificate>): string[] {
  // Node returns a list for a subject with several, which its type omits.
  const commonNames = [certificate.subject?.CN as string | readonly string[] | undefined].flat();
  return [...commonNames.filter((name) => name !== undefined), ...alternativeNames(certificate.subjectaltname ?? '')];
}

/** The names in a text of the form `DNS:a.example, URI:"a, b"`; empty if any part of it is unreadable. */
export function alternativeNames(text: string): string[] {
  const names: string[] = [];
  NAME.lastIndex = 0;
  while (NAME.lastIndex < text.length) {
    const { kind, quoted, plain } = NAME.exec(text)?.groups ?? {};
    const name = quoted === undefined ? plain : unquoted(quoted);
    if (kind === undefined || name === undefined) return [];
    if (KINDS.has(kind)) names.push(name);
  }
  return names;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
