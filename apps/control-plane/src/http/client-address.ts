import { inRanges, type AddressRange } from '../targets/address-ranges.js';

export type ProxiedRequest = { readonly secure: true; readonly clientAddress: string } | { readonly secure: false };

/**
 * Security and client address of a request behind a TLS proxy (contract, `TLS_MODE=proxy`). The request is secure only
 * when the peer is a trusted proxy and every hop it reports used https. The client is the rightmost untrusted hop: the
 * client itself may have written the hops to the left of it.
 */
export function readProxiedRequest(
  peerAddress: string,
  headers: { readonly forwardedProto: string | undefined; readonly forwardedFor: string | undefined },
  trusted: readonly AddressRange[],
): ProxiedRequest {
  if (!inRanges(peerAddress, trusted)) return { secure: false };
  const protocols = listOf(headers.forwardedProto);
  if (protocols.length === 0 || protocols.some((protocol) => protocol.toLowerCase() !== 'https'))
    return { secure: false };
  const hops = [...listOf(headers.forwardedFor), peerAddress].reverse();
  return { secure: true, clientAddress: hops.find((hop) => !inRanges(hop, trusted)) ?? hops.at(-1) ?? peerAddress };
}

function listOf(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
