import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendDocument } from '../docs/send-document.js';
import { refuse, valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { type ConsoleFile, ConsoleFiles } from './console-files.js';

/** Nothing inline, nothing from elsewhere, and no text that becomes HTML or a script (Trusted Types). */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The names of assets have a digest of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The files of the console (apps/console). They are public: the data comes from `/console/api`. */
@ApiExcludeController()
@Controller('console')
export class ConsolePagesController {
  constructor(private readonly files: ConsoleFiles) {}

  /** `routedUrl` leads the paths of the console's own pages here. */
  @Get()
  @Access({ access: 'public' })
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return send(request, reply, this.files.page, 'no-cache');
  }

  @Get('assets/:name')
  @Access({ access: 'public' })
  asset(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return send(request, reply, this.files.asset(name), IMMUTABLE);
  }
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ConsoleFile | null,
  cacheControl: string,
): Promise<void> {
  const { type, document } = file ?? valueOf<ConsoleFile>(refuse('NOT_FOUND'));
  void reply.headers({
    'content-type': type,
    'content-security-policy': CONSOLE_POLICY,
    'cache-control': cacheControl,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  });
  return sendDocument(request, reply, document);
}
