import { Body, Controller, Param } from '@nestjs/common';
import { NoBodyPipe } from '../../http/body.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Acts, Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { BindChange, BindDraft } from './bind.dto.js';
import { BindResource } from './bind.resource.js';
import { BindAnswer, BindList } from './bind.view.js';

const BIND = { resource: 'binds', id: 'Bind', one: 'a bind', many: 'binds' } as const;

@Controller('v1/admin/binds')
export class BindsController extends CrudController(BindResource, {
  list: Lists(BIND, BindList),
  create: Creates(BIND, BindAnswer, {
    description:
      'A gateway connects within 2 s. host and port are short for a list of one. Omitted fields get the documented defaults; the default name is made of systemId and host, the default carrier is the name.',
    errors: ['CONFLICT'],
  }),
  get: Shows(BIND, BindAnswer),
  update: Updates(BIND, BindAnswer, {
    description:
      'When the change requires it, connections are established anew after their open requests are answered; when it names another peer ' +
      '(hosts, systemId, password, tls, outbind), messages of the former one are answered with retryableMoStatus meanwhile. While trustedForMo is ' +
      'true, only the role `owner` may change hosts (host, port), tls, outbind, systemId, senderFormat, carrier or password. Otherwise a ' +
      'change of hosts (host, port), tls or outbind needs the password in the same request, or the role `owner`: the password is sent to ' +
      'the new peer.',
    errors: ['CONFLICT'],
  }),
  delete: Deletes(BIND, {
    description: 'Open requests are finished, then it is unbound. A bind with a route cannot be deleted.',
    errors: ['CONFLICT'],
  }),
  draft: BindDraft,
  change: BindChange,
}) {
  @Acts(BIND, { name: 'enable', summary: 'Enable' }, BindAnswer, {
    description: 'A gateway connects within 2 s.',
  })
  enable(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    return this.act(by, id, 'enable', (tx, row) => this.resource.enable(tx, row));
  }

  @Acts(BIND, { name: 'disable', summary: 'Disable' }, BindAnswer, {
    description:
      'Open requests are finished (10 s at most), then it is unbound until it is enabled. Messages of the carrier are answered with retryableMoStatus meanwhile.',
  })
  disable(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    return this.act(by, id, 'disable', (tx, row) => this.resource.disable(tx, row));
  }

  @Acts(BIND, { name: 'reconnect', summary: 'Reconnect' }, BindAnswer, {
    description:
      'Each of its connections is drained and established anew, without waiting for a pending backoff. No effect on a disabled bind.',
  })
  reconnect(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    return this.act(by, id, 'reconnect', (tx, row) => this.resource.reconnect(tx, row));
  }

  @Acts(BIND, { name: 'drain', summary: 'Drain' }, BindAnswer, {
    description:
      'Same as disable: open requests are finished (10 s at most), messages of the carrier are answered with retryableMoStatus, then it is unbound until it is enabled.',
  })
  drain(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BindAnswer>> {
    return this.act(by, id, 'drain', (tx, row) => this.resource.disable(tx, row));
  }
}
