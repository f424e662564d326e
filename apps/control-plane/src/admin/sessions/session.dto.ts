import { OnlyOf, OnlyOfMode, OnlyOfPhone } from '../crud/filters.js';
import { PageQuery } from '../crud/paging.js';

/** The query of GET /v1/admin/sessions. */
export class SessionsQuery extends PageQuery {
  @OnlyOfPhone()
  phone?: string;

  @OnlyOf('id', 'sess', 'session')
  id?: string;

  @OnlyOfMode()
  test?: 'true' | 'false';
}
