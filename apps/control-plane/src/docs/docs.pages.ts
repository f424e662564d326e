import { KeptDocument } from '@countersign/http';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { ERROR_CODES, errorPage, errorsPage } from './rendering/error-pages.js';
import { readGuides } from './guides.js';
import { ApiDescription } from './openapi/openapi.controller.js';
import { messagePage } from './reference/message-page.js';
import { referencePages } from './reference/reference-pages.js';

/** All pages, rendered once: they are the same for every reader. */
@Injectable()
export class DocsPages {
  readonly errors = new KeptDocument(errorsPage());
  private readonly guides: ReadonlyMap<string, KeptDocument>;
  private readonly errorPages: ReadonlyMap<string, KeptDocument>;
  private references: ReadonlyMap<string, KeptDocument> | null = null;
  private messagesPage: KeptDocument | null = null;

  constructor(
    private readonly settings: ControlPlaneSettings,
    private readonly description: ApiDescription,
  ) {
    const { publicBaseUrl } = settings;
    this.guides = kept(readGuides(publicBaseUrl));
    this.errorPages = kept(new Map(ERROR_CODES.map((code) => [code, errorPage(code, publicBaseUrl)])));
  }

  /** The first page under `''`. Null for an unknown page, as in the methods below. */
  guide(name: string): KeptDocument | null {
    return this.guides.get(name) ?? null;
  }

  error(code: string): KeptDocument | null {
    return this.errorPages.get(code) ?? null;
  }

  /** The API reference, `''` for its overview. Rendered on first use, when the OpenAPI document exists. */
  reference(chapter: string): KeptDocument | null {
    this.references ??= kept(referencePages(this.description.value));
    return this.references.get(chapter) ?? null;
  }

  /** The page of messages and events, rendered like the reference. */
  get messages(): KeptDocument {
    this.messagesPage ??= new KeptDocument(messagePage(this.description.value, this.settings.publicBaseUrl));
    return this.messagesPage;
  }
}

const kept = (pages: ReadonlyMap<string, string>): ReadonlyMap<string, KeptDocument> =>
  new Map([...pages].map(([name, html]) => [name, new KeptDocument(html)]));
