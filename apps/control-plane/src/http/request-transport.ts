import type { IncomingMessage } from 'node:http';
import { headFault } from '@countersign/http';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { parseRanges, type AddressRange } from '../targets/address-ranges.js';
import { readProxiedRequest } from './client-address.js';
import { RefusedRequest } from './errors.js';

/** Reads the client's address, and refuses requests that did not arrive over TLS or whose headers are ambiguous. */
@Injectable()
export class RequestTransport {
  private readonly trustedProxies: readonly AddressRange[] | null;

  constructor(@Inject(ControlPlaneSettings) { tls }: Pick<ControlPlaneSettings, 'tls'>) {
    this.trustedProxies = tls.mode === 'proxy' ? parseRanges(tls.trustedProxies) : null;
  }

  of(request: IncomingMessage): {
    readonly clientAddress: string;
    readonly refused: RefusedRequest | null;
  } {
    const { socket, headers } = request;
    let clientAddress = socket.remoteAddress ?? '';
    if (this.trustedProxies !== null) {
      const forwarded = {
        forwardedProto: textOf(headers['x-forwarded-proto']),
        forwardedFor: textOf(headers['x-forwarded-for']),
      };
      const proxied = readProxiedRequest(clientAddress, forwarded, this.trustedProxies);
      if (!proxied.secure) return { clientAddress, refused: new RefusedRequest({ code: 'HTTPS_REQUIRED' }) };
      clientAddress = proxied.clientAddress;
    }
    const message = headFault(request);
    const refused = message === null ? null : new RefusedRequest({ code: 'MALFORMED_REQUEST', message });
    return { clientAddress, refused };
  }
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;
