import { ERROR_CODES, errorPage, errorsPage } from './rendering/error-pages.js';
import { readGuides } from './guides.js';
import type { ApiDescription } from './openapi/openapi.controller.js';
import { messagePage } from './reference/message-page.js';
import { referencePages } from './reference/reference-pages.js';

/** Every page, made once and kept: they say the same to everybody. */
export class DocsPages {
  readonly errors = errorsPage();
  private readonly guides: ReadonlyMap<string, string>;
  private readonly errorPages: ReadonlyMap<string, string>;
  private references: ReadonlyMap<string, string> | null = null;
  private messagesPage: string | null = null;

  /** `publicBaseUrl` is the address that the pages name as the service's own. */
  constructor(
    private readonly publicBaseUrl: string,
    private readonly description: ApiDescription,
  ) {
    this.guides = readGuides(publicBaseUrl);
    this.errorPages = new Map(ERROR_CODES.map((code) => [code, errorPage(code, publicBaseUrl)]));
  }

  /** The first page under `''`. Null for a page that is not there, as below. */
  guide(name: string): string | null {
    return this.guides.get(name) ?? null;
  }

  error(code: string): string | null {
    return this.errorPages.get(code) ?? null;
  }

  /** The API reference, `''` for its overview. Made when first asked for: the application is described by then. */
  reference(chapter: string): string | null {
    this.references ??= referencePages(this.description.value);
    return this.references.get(chapter) ?? null;
  }

  /** What is told by itself, made like the reference. */
  get messages(): string {
    this.messagesPage ??= messagePage(this.description.value, this.publicBaseUrl);
    return this.messagesPage;
  }
}
