# SPDX-License-Identifier: Apache-2.0
# What tests with certificates share. To be sourced.
# make_ca NAME: NAME.pem and NAME.key
make_ca() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.pem" -days 30 \
    -subj "/CN=$1" 2>/dev/null || fail "openssl makes no CA"
}
# make_certificate NAME CA SUBJECT_ALT_NAME [OPTIONS...]: NAME.pem and NAME.key, by default for 30 days from now
make_certificate() {
  local name=$1 ca=$2 san=$3
  shift 3
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out "$name.csr" -subj "/O=$name" 2>/dev/null &&
  openssl x509 -req -in "$name.csr" -CA "$ca.pem" -CAkey "$ca.key" -CAcreateserial -out "$name.pem" -days 30 "$@" \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$san") 2>/dev/null || fail "openssl makes no certificate"
  chmod 600 "$name.key"
}
