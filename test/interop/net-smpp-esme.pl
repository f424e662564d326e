#!/usr/bin/perl
# An ESME on Net::SMPP that does what it is told on its standard input, a line each, and tells what it was answered.
#   net-smpp-esme.pl PORT SYSTEM_ID PASSWORD transceiver|transmitter|receiver
use strict;
use warnings;
use Net::SMPP;

$| = 1;
my ($port, $system_id, $password, $kind) = @ARGV;
my $smpp = Net::SMPP->new_connect('127.0.0.1', port => $port, system_id => $system_id, password => $password)
  or die "no connection: $!\n";
my $bind = "bind_$kind";
my $bound = $smpp->$bind();
printf "bound %d\n", defined $bound ? $bound->status : -1;

# What a phone sends to the number of the gateway: both addresses international numbers.
sub message {
    my ($from, $to, $hex, $data_coding) = @_;
    return (
        source_addr_ton => 1, source_addr_npi => 1, source_addr => $from,
        dest_addr_ton => 1, dest_addr_npi => 1, destination_addr => $to,
        data_coding => $data_coding // 0, short_message => pack('H*', $hex),
    );
}

sub answered {
    my ($what, $response) = @_;
    printf "%s %d %s\n", $what, defined $response ? $response->status : -1, $response->{message_id} // '';
}

while (my $line = <STDIN>) {
    chomp $line;
    my ($command, @words) = split / /, $line;
    if ($command eq 'submit') { answered('submitted', $smpp->submit_sm(message(@words))); }
    elsif ($command eq 'enquire') { answered('enquired', $smpp->enquire_link()); }
    elsif ($command eq 'unbind') { answered('unbound', $smpp->unbind()); last; }
    elsif ($command eq 'data') {
        my %fields = message(@words);
        my $text = delete $fields{short_message};
        answered('submitted', $smpp->data_sm(%fields, message_payload => $text));
    }
    elsif ($command eq 'burst') {
        my $count = shift @words;
        $smpp->submit_sm(message(@words), async => 1) for 1 .. $count;
        my $ok = 0;
        for (my $answered = 0; $answered < $count;) {
            my $pdu = $smpp->read_pdu() or last;
            if ($pdu->{cmd} == 0x15) { $smpp->enquire_link_resp(seq => $pdu->{seq}); next; }
            $answered++;
            $ok++ if $pdu->{cmd} == 0x80000004 && $pdu->{status} == 0;
        }
        printf "burst %d\n", $ok;
    }
}
