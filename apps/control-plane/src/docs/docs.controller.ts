import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { refuse, valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { errorPage, isErrorCode, startPage } from './pages.js';

const HTML = 'text/html; charset=utf-8';
/** Our own style sheet in the page, and nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

/** Which address the pages name as the service's own. */
export class DocsOptions {
  constructor(readonly publicBaseUrl: string) {}
}

/** The public pages: no key, no cookie, no script. */
@ApiExcludeController()
@Controller('docs')
export class DocsController {
  constructor(private readonly options: DocsOptions) {}

  @Get()
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', POLICY)
  @Header('Cache-Control', 'public, max-age=300')
  @Access({ access: 'public' })
  start(): string {
    return startPage(this.options.publicBaseUrl);
  }

  @Get('errors/:code')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', POLICY)
  @Header('Cache-Control', 'public, max-age=300')
  @Access({ access: 'public' })
  error(@Param('code') code: string): string {
    return isErrorCode(code) ? errorPage(code) : valueOf<string>(refuse('NOT_FOUND'));
  }
}
