import { applyDecorators, Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { refuse, valueOf } from '../http/errors.js';
import { Access } from '../http/route-access.js';
import { DocsPages } from './docs.pages.js';
import { PAGE_POLICY } from './rendering/page.js';

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
  start(): string {
    return pageOr404(this.pages.guide(''));
  }

  @Page('errors')
  errors(): string {
    return this.pages.errors;
  }

  @Page('errors/:code')
  error(@Param('code') code: string): string {
    return pageOr404(this.pages.error(code));
  }

  @Page('api')
  reference(): string {
    return pageOr404(this.pages.reference(''));
  }

  @Page('api/:chapter')
  chapter(@Param('chapter') chapter: string): string {
    return pageOr404(this.pages.reference(chapter));
  }

  @Page('messages')
  messages(): string {
    return this.pages.messages;
  }

  @Page(':guide')
  guide(@Param('guide') guide: string): string {
    return pageOr404(this.pages.guide(guide));
  }
}

const pageOr404 = (html: string | null): string => html ?? valueOf<string>(refuse('NOT_FOUND'));
