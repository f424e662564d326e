import { constants } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { readFileSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { AGREED_TLS, CertificateReload, TlsOverhead } from '@countersign/tls';
import { LOGGER } from '../injection/logger.token.js';
import type { Peer } from './bind-authenticator.js';
import { CertificateHandshakes } from './certificate-handshakes.js';
import { certificateNames } from './certificate-names.js';
import { ConnectionAdmitter } from './connection.admitter.js';

const TLS_HANDSHAKE_MS = 10_000;
/**
 * No session is resumed: a resumed one brings the certificate of its first handshake without a proof of the key, and although the
 * certificate has expired (RFC 8446, section 4.6.1).
 */
const EACH_TIME_PROVED = AGREED_TLS.secureOptions | constants.SSL_OP_NO_TICKET;

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** CA file that client certificates must chain to; null: none is requested. */
  readonly clientCaFile: string | null;
}

type PortSettings = Pick<
  GatewaySettings,
  'smppHost' | 'smppPort' | 'smppTlsPort' | 'smppTlsCertFile' | 'smppTlsKeyFile' | 'smppTlsClientCaFile'
>;

type ServeConnection = (socket: net.Socket, over: Pick<Peer, 'overTls' | 'certificateNames'>) => void;

/** The SMPP ports, plain and with TLS 1.2 or later. */
@Injectable()
export class SmppPorts {
  readonly #servers: net.Server[] = [];
  #certificate: CertificateReload | undefined;

  constructor(
    @Inject(GatewaySettings) private readonly settings: PortSettings,
    @Inject(ConnectionAdmitter) private readonly admitter: Pick<ConnectionAdmitter, 'admitConnection'>,
    @Inject(CertificateHandshakes) private readonly handshakes: Pick<CertificateHandshakes, 'begin' | 'complete'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether every port is open. */
  get areListening(): boolean {
    return this.#servers.length > 0 && this.#servers.every((server) => server.listening);
  }

  /**
   * Opens the ports; `serve` receives the admitted connections. Rejects with an error that names the port and the remedy
   * when a port cannot be opened.
   */
  async open(serve: ServeConnection): Promise<void> {
    const { smppPort, smppTlsPort, smppTlsCertFile: certFile, smppTlsKeyFile: keyFile } = this.settings;
    const plain = (socket: net.Socket): void => serve(socket, { overTls: false, certificateNames: null });
    await this.openPort(plain, smppPort, 'GATEWAY_SMPP_PORT');
    // The TLS port is opened when a certificate is configured; the settings require its key.
    if (certFile === null || keyFile === null) return;
    const clientCaFile = this.settings.smppTlsClientCaFile;
    const secure = this.secureServer({ certFile, keyFile, clientCaFile }, serve);
    // The TLS server has no port of its own: it receives admitted connections before their handshake.
    const start = (socket: net.Socket): void => void secure.emit('connection', socket);
    const accept = (socket: net.Socket): void =>
      clientCaFile === null ? start(socket) : this.handshakes.begin(socket, () => start(socket));
    const port = await this.openPort(accept, smppTlsPort, 'GATEWAY_SMPP_TLS_PORT');
    new TlsOverhead().attach(port, secure);
  }

  /** Lets new connections use the files as they are now; connections that are open stay. */
  reloadCertificate(): void {
    this.#certificate?.reload();
  }

  /** Accepts no new connection; open connections stay. */
  close(): void {
    this.#certificate?.stop();
    for (const server of this.#servers) server.close();
  }

  private secureServer(files: TlsFiles, serve: ServeConnection): tls.Server {
    const { certFile, keyFile, clientCaFile } = files;
    const secure = tls.createServer({
      ...secureContext(files),
      requestCert: clientCaFile !== null,
      rejectUnauthorized: clientCaFile !== null,
      handshakeTimeout: TLS_HANDSHAKE_MS,
    });
    this.#certificate = new CertificateReload({
      files: [certFile, keyFile, ...(clientCaFile === null ? [] : [clientCaFile])],
      apply: () => secure.setSecureContext(secureContext(files)),
      onReload: () => this.logger.info('listener: certificate read again'),
      onError: (err) =>
        this.logger.error({ err }, 'listener: certificate cannot be used; the present one stays in use'),
    });
    secure.on('secureConnection', (socket) => {
      if (clientCaFile !== null) this.handshakes.complete(socket);
      serve(socket, {
        overTls: true,
        certificateNames: clientCaFile === null ? null : certificateNames(socket.getPeerCertificate()),
      });
    });
    secure.on('tlsClientError', (error) => this.logger.debug({ err: error }, 'listener: TLS handshake failed'));
    return secure;
  }

  private async openPort(accept: (socket: net.Socket) => void, port: number, variable: string): Promise<net.Server> {
    const { smppHost: host } = this.settings;
    // Paused: no octet is read before the peer is admitted.
    const server = net.createServer(
      { noDelay: true, pauseOnConnect: true },
      (socket) => void this.admit(socket, accept),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, host, port, variable)));
      server.listen({ host, port }, resolve);
    });
    server.on('error', (error) => this.logger.error({ err: error, port }, 'SMPP listener failed'));
    this.#servers.push(server);
    return server;
  }

  private async admit(socket: net.Socket, accept: (socket: net.Socket) => void): Promise<void> {
    if (await this.admitter.admitConnection(socket)) accept(socket);
  }
}

const secureContext = ({ certFile, keyFile, clientCaFile }: TlsFiles): tls.SecureContextOptions => ({
  ...AGREED_TLS,
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
  ...(clientCaFile === null ? {} : { ca: readFileSync(clientCaFile), secureOptions: EACH_TIME_PROVED }),
});

function listenError(error: Error, host: string, port: number, variable: string): Error {
  const taken = 'code' in error && error.code === 'EADDRINUSE';
  const advice = taken ? 'another process listens there: stop it, or set another port' : error.message;
  return new Error(`cannot listen on ${host}:${port} (${variable}): ${advice}`, { cause: error });
}
