import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** A home or an office has 2^64 addresses of IPv6 and takes another as it likes: they count as one peer. */
const IPV6_PEER_BITS = 64;

/**
 * Is the address in one of the networks? An address alone is a network of one. An empty list allows every address; a
 * network that cannot be read allows none.
 */
export function isAllowedAddress(address: string, cidrs: readonly string[]): boolean {
  return NetworkSet.of([cidrs]).includes(address);
}

/** The networks of several lists in one, read once; an empty list among them stands for every address. */
export class NetworkSet {
  private constructor(
    private readonly everywhere: boolean,
    private readonly networks: readonly Network[],
  ) {}

  static of(lists: readonly (readonly string[])[]): NetworkSet {
    const networks = [...new Set(lists.flat())].map(readNetwork).filter((network) => network !== null);
    return new NetworkSet(
      lists.some((list) => list.length === 0),
      networks,
    );
  }

  includes(address: string): boolean {
    if (this.everywhere) return true;
    if (!ipaddr.isValid(address)) return false;
    const peer = ipaddr.process(address);
    return this.networks.some(([network, bits]) => network.kind() === peer.kind() && peer.match(network, bits));
  }
}

/** Do the networks leave any address out? An empty list and one with a prefix of 0 bits do not. */
export function areRestricting(cidrs: readonly string[]): boolean {
  return cidrs.length > 0 && !cidrs.some((cidr) => readNetwork(cidr)?.[1] === 0);
}

function readNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.parse(text);
  return [address, address.toByteArray().length * 8];
}

/** What counts as one peer: an address of IPv4 however it is spelt, a network of 64 bits of IPv6. */
export function peerNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const peer = ipaddr.process(address);
  if (peer.kind() === 'ipv4') return peer.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${peer.toString()}/${IPV6_PEER_BITS}`).toString()}/${IPV6_PEER_BITS}`;
}
