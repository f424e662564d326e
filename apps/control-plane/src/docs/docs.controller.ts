import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { refuse, valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { DocsPages } from './docs.pages.js';
import { PAGE_POLICY } from './page.js';

const HTML = 'text/html; charset=utf-8';
const CACHE = 'public, max-age=300';

/** The public pages: no key, no cookie, no script. */
@ApiExcludeController()
@Controller('docs')
export class DocsController {
  constructor(private readonly pages: DocsPages) {}

  @Get()
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  start(): string {
    return pageOr404(this.pages.guide(''));
  }

  @Get('errors')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  errors(): string {
    return this.pages.errors;
  }

  @Get('errors/:code')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  error(@Param('code') code: string): string {
    return pageOr404(this.pages.error(code));
  }

  @Get('api')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  reference(): string {
    return pageOr404(this.pages.reference(''));
  }

  @Get('api/:chapter')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  chapter(@Param('chapter') chapter: string): string {
    return pageOr404(this.pages.reference(chapter));
  }

  @Get(':guide')
  @Header('Content-Type', HTML)
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Header('Cache-Control', CACHE)
  @Access({ access: 'public' })
  guide(@Param('guide') guide: string): string {
    return pageOr404(this.pages.guide(guide));
  }
}

const pageOr404 = (html: string | null): string => html ?? valueOf<string>(refuse('NOT_FOUND'));
