#include "models/network/bnn_rival.h"

#include "models/network/bnn_member.h"
#include "models/network/rival_share.h"

namespace dma {

void add_rival(std::vector<PredictionComponent> linear, double network_share, std::vector<PredictionComponent>& networks) {
  const double each = network_share / static_cast<double>(networks.size());
  if (network_share == 0) networks.clear();
  for (PredictionComponent& own : networks) own.weight = Eigen::MatrixXd::Constant(own.mean.rows(), own.mean.cols(), each);
  const double rest = 1 - network_share, equal = 1 / static_cast<double>(linear.size());
  for (PredictionComponent& own : linear) {
    if (own.weight.size() == 0) own.weight = Eigen::MatrixXd::Constant(own.mean.rows(), own.mean.cols(), equal);
    own.weight *= rest;
    networks.push_back(std::move(own));
  }
}

void Bnn::make_rival() {
  JointRegressionOptions linear{.shape = {.layers = {static_cast<Index>(options_.layers.front()), static_cast<Index>(options_.layers.back())},
                                          .slopes = {}}};
  linear.doubt_extrapolation = linear.linear_rival = linear.choose_jitter = false;
  linear.members = 1;
  linear.seed = options_.seed;
  joint_ = std::make_unique<JointRegression>(std::move(linear));
}

void Bnn::mix_with_rival(std::vector<PredictionComponent> left_out, const RowMajor& x, const RowMajor& y, std::size_t jobs) {
  const Eigen::RowVectorXd noise =
      Eigen::Map<const Eigen::RowVectorXd>(noise_variance_.data(), static_cast<Eigen::Index>(noise_variance_.size())).cwiseSqrt();
  for (PredictionComponent& own : left_out) own.noise_sd = noise.replicate(x.rows(), 1);
  network_share_ = 1;
  joint_.reset();
  left_out_ = std::move(left_out);
  if (left_out_.empty()) return;  // interrupted before anything was learned
  make_rival();
  if (choose_regime(x.rows(), y.cols(), joint_->network().scalars()).form == JointRegime::Form::none) {
    joint_.reset();
  } else {
    joint_->share(jobs, nullptr);
    joint_->fit({x, y});
    const double ahead = Prediction::mix(left_out_).log_density(y).sum() - Prediction::mix(joint_->left_out()).log_density(y).sum();
    network_share_ = share_of_network(ahead - kBenefitOfDoubt);
    if (network_share_ < 1) add_rival(joint_->left_out(), network_share_, left_out_);
  }
  report_.network_share = network_share_;
  report_left_out(left_out_, target_standardiser_.undo(y));
}

}  // namespace dma
