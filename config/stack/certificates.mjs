// The local certificate authority of a development run and the server certificate it signs.
import { webcrypto, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { writePrivate } from './files.mjs';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** Longest life of a server certificate that common clients accept. */
const SERVER_DAYS = 397;
/** Clocks differ, so a certificate becomes valid a little before its creation. */
const BACKDATED_DAYS = 1;
const RENEW_WHEN_LEFT_DAYS = 30;
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const pathsIn = (dataDir) => ({
  caFile: path.join(dataDir, 'ca.pem'),
  caKeyFile: path.join(dataDir, 'ca.key'),
  certFile: path.join(dataDir, 'server.pem'),
  keyFile: path.join(dataDir, 'server.key'),
});

/**
 * Creates `ca.pem`, `server.pem` and `server.key` in the data directory if they are missing, do not cover the hosts or
 * expire within 30 days. The authority is kept until it expires, so that clients need to trust it only once.
 *
 * @param {{ dataDir: string, hosts: string[], log: (message: string) => void, nowMs?: number }} options
 * @returns {Promise<{ caFile: string, certFile: string, keyFile: string }>}
 */
export async function ensureCertificates({ dataDir, hosts, log, nowMs = Date.now() }) {
  const files = pathsIn(dataDir);
  const authorityStands = isCurrent(files.caFile, files.caKeyFile, nowMs);
  if (authorityStands && isCurrent(files.certFile, files.keyFile, nowMs) && covers(files, hosts)) return files;
  log(authorityStands ? 'writing a new server certificate' : 'writing a local certificate authority');
  const writer = await certificateWriter(nowMs);
  if (!authorityStands) await writer.writeAuthority(files);
  await writer.writeServer(files, hosts);
  return files;
}

function isCurrent(certFile, keyFile, nowMs) {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  try {
    return Date.parse(new X509Certificate(readFileSync(certFile)).validTo) - nowMs > RENEW_WHEN_LEFT_DAYS * DAY_MS;
  } catch {
    return false; // truncated by a crash
  }
}

function covers({ caFile, certFile }, hosts) {
  const certificate = new X509Certificate(readFileSync(certFile));
  const signed = certificate.verify(new X509Certificate(readFileSync(caFile)).publicKey);
  return signed && hosts.every((host) => (net.isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)));
}

/** The writer loads an X.509 library, which takes 0.15 s: only a run that writes a certificate loads it. */
async function certificateWriter(nowMs) {
  const x509 = (await import('@peculiar/x509')).default;
  x509.cryptoProvider.set(webcrypto);
  const dates = (days) => ({
    notBefore: new Date(nowMs - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(nowMs + days * DAY_MS),
  });
  const newKeys = () => webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
  const pem = async (key) => {
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
    return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
  };

  return {
    async writeAuthority({ caFile, caKeyFile }) {
      const keys = await newKeys();
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        name: 'CN=Countersign local development CA',
        keys,
        signingAlgorithm: KEY_ALGORITHM,
        ...dates(AUTHORITY_DAYS),
        extensions: [
          new x509.BasicConstraintsExtension(true, 0, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      writePrivate(caKeyFile, await pem(keys.privateKey));
      writePrivate(caFile, `${certificate.toString('pem')}\n`);
    },

    async writeServer({ caFile, caKeyFile, certFile, keyFile }, hosts) {
      const authority = new x509.X509Certificate(readFileSync(caFile, 'utf8'));
      const [signingKey] = x509.PemConverter.decode(readFileSync(caKeyFile, 'utf8'));
      const keys = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        subject: 'CN=localhost',
        issuer: authority.subject,
        publicKey: keys.publicKey,
        signingKey: await webcrypto.subtle.importKey('pkcs8', signingKey, KEY_ALGORITHM, false, ['sign']),
        signingAlgorithm: KEY_ALGORITHM,
        ...dates(SERVER_DAYS - BACKDATED_DAYS),
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(
            hosts.map((host) => ({ type: net.isIP(host) ? 'ip' : 'dns', value: host })),
          ),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
          await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
        ],
      });
      writePrivate(keyFile, await pem(keys.privateKey));
      writePrivate(certFile, `${certificate.toString('pem')}\n`);
    },
  };
}
