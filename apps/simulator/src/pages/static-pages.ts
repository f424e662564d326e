import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { compressPage } from './compressed-pages.js';

/** The sources of this app: `apps/simulator/src`, or its copy below `dist`. */
const SOURCES = fileURLToPath(new URL('..', import.meta.url));

/**
 * Folders that browsers load, by path. A page is a folder of files: HTML, CSS, ES modules and images, not built except
 * for TypeScript's output of the SDK. Pages import each other's modules, and those of `/sdk/`, by relative paths
 * (`../sdk/challenge.js`). Bare names would need an import map, which is an inline script; a page gets QR codes, which
 * the SDK draws with a package, from its server.
 */
const MOUNTS = [
  { prefix: '/phone', root: path.join(SOURCES, 'phone/page') },
  { prefix: '/demo', root: path.join(SOURCES, 'demo/page') },
  { prefix: '/sdk', root: path.join(SOURCES, '../../../libs/sdk/src') },
];

/** Nothing inline, and only the images of cards from elsewhere; pages of this server may frame it. */
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
  // A page is small and its server near: edits are visible at once.
  'cache-control': 'no-cache',
  vary: 'Accept-Encoding',
};

/** Serves the pages; those without files are omitted. Call it before the app listens. */
export function servePages(app: NestFastifyApplication): void {
  const instance: FastifyInstance = app.getHttpAdapter().getInstance();
  for (const { prefix, root } of MOUNTS.filter((mount) => existsSync(mount.root))) {
    // A scope of its own: answers of the control surface are not compressed.
    void instance.register(async (scope) => {
      scope.addHook('onSend', compressPage);
      await scope.register(fastifyStatic, {
        root,
        prefix,
        decorateReply: false,
        redirect: true,
        index: ['index.html'],
        allowedPath: (pathname: string) => !pathname.endsWith('.ts') && !pathname.endsWith('.map'),
        setHeaders: (reply: FastifyReply) => void reply.headers(HEADERS),
      });
    });
  }
}
