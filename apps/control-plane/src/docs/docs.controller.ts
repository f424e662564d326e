import type { KeptDocument } from '@countersign/http';
import { applyDecorators, Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse, valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { DocsPages } from './docs.pages.js';
import { PAGE_POLICY } from './rendering/page.js';
import { sendDocument } from './send-document.js';

/** Declares a page at this path. */
const Page = (path = ''): MethodDecorator =>
  applyDecorators(
    Get(path),
    Header('Content-Type', 'text/html; charset=utf-8'),
    Header('Content-Security-Policy', PAGE_POLICY),
    Header('Cache-Control', 'public, max-age=300'),
    Access({ access: 'public' }),
  );

/** The public pages: no key, no cookie, no script. */
@ApiExcludeController()
@Controller('docs')
export class DocsController {
  constructor(private readonly pages: DocsPages) {}

  @Page()
  start(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.guide('')));
  }

  @Page('errors')
  errors(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, this.pages.errors);
  }

  @Page('errors/:code')
  error(@Param('code') code: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.error(code)));
  }

  @Page('api')
  reference(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.reference('')));
  }

  @Page('api/:chapter')
  chapter(
    @Param('chapter') chapter: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.reference(chapter)));
  }

  @Page('carrier-requirements/:situation')
  situation(
    @Param('situation') situation: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.guide(`carrier-requirements/${situation}`)));
  }

  @Page('messages')
  messages(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, this.pages.messages);
  }

  @Page(':guide')
  guide(@Param('guide') guide: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return sendDocument(request, reply, pageOr404(this.pages.guide(guide)));
  }
}

const pageOr404 = (page: KeptDocument | null): KeptDocument => page ?? valueOf<KeptDocument>(refuse('NOT_FOUND'));
