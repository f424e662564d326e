import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** Of this app: `apps/simulator/src`, or its place below `dist`. */
const SOURCES = fileURLToPath(new URL('..', import.meta.url));

/**
 * What browsers load, by its path. A page is a folder of files: HTML, CSS, ES modules and pictures, nothing that is built
 * but what TypeScript makes of the SDK. Pages import each other's modules, and those of `/sdk/`, by relative paths
 * (`../sdk/challenge.js`). Bare names would need an import map, which is a script in the page: what the SDK draws with a
 * package, a QR code, a page gets from its server.
 */
const MOUNTS = [
  { prefix: '/phone', root: path.join(SOURCES, 'phone/page') },
  { prefix: '/demo', root: path.join(SOURCES, 'demo/page') },
  { prefix: '/sdk', root: path.join(SOURCES, '../../../libs/sdk/src') },
];

/** Nothing in line, nothing from elsewhere but the pictures on cards; a page may stand in a frame of this server. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // A page is small and its server near: what was edited is seen at once.
  'cache-control': 'no-cache',
};

/** Serves the pages; those whose files are not there are left out. Call it before the app listens. */
export function servePages(app: NestFastifyApplication): void {
  for (const { prefix, root } of MOUNTS.filter((mount) => existsSync(mount.root))) {
    void app.register(fastifyStatic, {
      root,
      prefix,
      decorateReply: false,
      redirect: true,
      index: ['index.html'],
      allowedPath: (pathname: string) => !pathname.endsWith('.ts') && !pathname.endsWith('.map'),
      setHeaders: (reply: FastifyReply) => void reply.headers(HEADERS),
    });
  }
}
