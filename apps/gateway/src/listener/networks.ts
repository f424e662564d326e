import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** One site has 2^64 IPv6 addresses and can change among them, so a /64 counts as one peer. */
const IPV6_PEER_BITS = 64;

/**
 * Whether the address is in one of the networks. A single address is a network of one. An empty list allows every address;
 * an unreadable network allows none.
 */
export function isAllowedAddress(address: string, cidrs: readonly string[]): boolean {
  return NetworkSet.of([cidrs]).includes(address);
}

/** The union of several lists of networks, parsed once; an empty list among them includes every address. */
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

/** Whether the networks exclude any address. An empty list, or one with a prefix of 0 bits, excludes none. */
export function areRestricting(cidrs: readonly string[]): boolean {
  return cidrs.length > 0 && !cidrs.some((cidr) => readNetwork(cidr)?.[1] === 0);
}

function readNetwork(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.parse(text);
  return [address, address.toByteArray().length * 8];
}

/** The peer of an address: the IPv4 address in one spelling, or the IPv6 /64 network. */
export function peerNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const peer = ipaddr.process(address);
  if (peer.kind() === 'ipv4') return peer.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${peer.toString()}/${IPV6_PEER_BITS}`).toString()}/${IPV6_PEER_BITS}`;
}
